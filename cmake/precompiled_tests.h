// Seen before every test: cmake/precompiled.h, and what tests include.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precompiled.h"
