# SPDX-License-Identifier: BSD-3-Clause
# The target accl::accl: accl.h and accl.hpp, and the soft engine.
get_filename_component(folder "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET accl::accl)
  add_library(accl::accl SHARED IMPORTED)
  set_target_properties(accl::accl PROPERTIES
    IMPORTED_LOCATION "${folder}/lib/libaccl.so" IMPORTED_SONAME libaccl.so
    INTERFACE_INCLUDE_DIRECTORIES "${folder}/include")
endif()
unset(folder)
