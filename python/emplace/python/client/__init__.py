"""device_lib and timeline."""
