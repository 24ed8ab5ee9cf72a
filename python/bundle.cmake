# Run when the wheel is installed into its folder: puts the libraries that the engine needs beside
# it, under names of their own, so that they meet no others in the process.
# Given: engine (its file name), opened (those that it opens when they are needed), patchelf (a program, or empty).
set(folder ${CMAKE_INSTALL_PREFIX}/emplace)
# A wheel holds no links: the file takes the name it is loaded by.
if(IS_SYMLINK ${folder}/${engine})
  file(REAL_PATH ${folder}/${engine} real)
  file(RENAME ${real} ${folder}/${engine})
endif()
if(NOT patchelf)
  message(WARNING "no patchelf: the wheel will need the libraries of this machine")
  return()
endif()

list(TRANSFORM opened PREPEND ${folder}/ OUTPUT_VARIABLE modules)
file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${folder}/${engine} MODULES ${modules}
  RESOLVED_DEPENDENCIES_VAR needed UNRESOLVED_DEPENDENCIES_VAR missing
  # Every Linux has these.
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|z)\\.so" "^libstdc\\+\\+" "^libgcc_s")
if(missing)
  message(FATAL_ERROR "not found: ${missing}")
endif()

set(renames "")
set(copies "")
foreach(library ${needed})
  get_filename_component(name ${library} NAME)
  get_filename_component(real ${library} REALPATH)
  string(REGEX REPLACE "^lib" "libemplace_" own ${name})
  file(COPY_FILE ${real} ${folder}/${own})
  file(CHMOD ${folder}/${own} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
    GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  execute_process(COMMAND ${patchelf} --set-soname ${own} ${folder}/${own}
    COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND renames --replace-needed ${name} ${own})
  list(APPEND copies ${folder}/${own})
endforeach()
foreach(file ${copies} ${folder}/${engine} ${modules})
  execute_process(COMMAND ${patchelf} ${renames} --set-rpath $ORIGIN ${file}
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
