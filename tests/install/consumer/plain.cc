#include <emplace/export.h>

#include <cstdio>
#include <cstring>

int main() {
  std::printf("plain consumer: emplace %s\n", emplace::version());
  return std::strlen(emplace::version()) > 0 ? 0 : 1;
}
