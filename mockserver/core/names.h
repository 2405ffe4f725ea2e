/* names - which table and column names the server takes, and when two are the same.
 *
 * Bounds and UTF-8 are the decoder's matter (status 0x05); these are the rules of the
 * table catalogue (0x06 and 0x03), asked when a table or column would be created
 * [WIRE-TBL-002, MAL-ING-006]. Letters of ASCII match in any case; others as they are.
 */
#ifndef MOCK_NAMES_H
#define MOCK_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool mock_name_table_legal(const char *p, size_t n);
bool mock_name_column_legal(const char *p, size_t n);

bool mock_name_equal(const char *a, size_t a_n, const char *b, size_t b_n);
/* Equal names have equal hashes. */
uint64_t mock_name_hash(const char *p, size_t n);

#endif
