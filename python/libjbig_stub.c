// Replaces libjbig in the wheel: libtiff is linked with it for JBIG images (1 bit per pixel), which modewise does not read,
// and its licence is the GPL. Decoding and encoding fail with a sentence.
#include <stddef.h>

int jbg_dec_in(void* state, const unsigned char* data, size_t length, size_t* read) { return 1; }
const char* jbg_strerror(int code) { return "JBIG images are not supported by this build of libtiff"; }
void jbg_dec_init(void* state) {}
void jbg_dec_free(void* state) {}
unsigned char* jbg_dec_getimage(const void* state, int plane) { return NULL; }
unsigned long jbg_dec_getsize(const void* state) { return 0; }
int jbg_newlen(unsigned char* data, size_t length) { return 0; }
void jbg_enc_init(void* state, unsigned long width, unsigned long height, int planes, unsigned char** image,
                  void (*out)(unsigned char*, size_t, void*), void* file) {}
void jbg_enc_out(void* state) {}
void jbg_enc_free(void* state) {}
