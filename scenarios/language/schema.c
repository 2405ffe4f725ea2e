/* The table of keys as a JSON schema, so that an editor completes and checks as one types. */
#include <stdio.h>
#include <string.h>

#include "language/keys.h"
#include "language/names.h"

static void quote(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', out);
    if (*text == '\n') fputs("\\n", out);
    else fputc(*text, out);
  }
  fputc('"', out);
}

/* Section names hold dots, which are fine in a definition's name; the file itself is "file". */
static const char *definition(const char *section) { return *section ? section : "file"; }

/* "each|every N|wait D" as a pattern. */
static void print_pattern(FILE *out, const char *words) {
  fputs("{\"type\": \"string\", \"pattern\": \"^(", out);
  for (const char *c = words; *c; c++) {
    if (*c == ' ') {
      const bool ranged = c[2] == '.';
      fputs(ranged ? " [0-9][0-9A-Za-z]*(\\\\.\\\\.[0-9][0-9A-Za-z]*)?" : " [0-9][0-9A-Za-z]*", out);
      c += ranged ? 3 : 1; /* the letter of the parameter's kind, and the dots */
    } else if (*c == '.') {
      fputs("\\\\.", out);
    } else {
      fputc(*c, out);
    }
  }
  fputs(")$\"}", out);
}

static void print_form(FILE *out, const struct scn_key *k, unsigned form) {
  switch (form) {
    case SCN_IS_TEXT: fputs("{\"type\": [\"string\", \"number\", \"boolean\"]}", out); return;
    case SCN_IS_INT: fputs("{\"type\": \"integer\"}, "
                           "{\"type\": \"string\", \"pattern\": \"^0x[0-9a-fA-F]+$\"}", out); return;
    case SCN_IS_BOOL: fputs("{\"type\": \"boolean\"}", out); return;
    case SCN_IS_CHOICE: print_pattern(out, k->words); return;
    case SCN_IS_DURATION: fputs("{\"type\": \"string\", \"pattern\": \"^[0-9]+(ns|us|ms|s|m|h)$\"}, "
                                "{\"const\": 0}", out); return;
    case SCN_IS_SIZE: fputs("{\"type\": \"integer\", \"minimum\": 0}, "
                            "{\"type\": \"string\", \"pattern\": \"^[0-9]+(KiB|MiB|GiB)?$\"}", out); return;
    case SCN_IS_HEX: fputs("{\"type\": [\"string\", \"integer\"]}", out); return;
    case SCN_IS_MAP: fprintf(out, "{\"$ref\": \"#/$defs/%s\"}", definition(k->section_of)); return;
    case SCN_IS_MAPS: fprintf(out, "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/%s\"}}",
                              definition(k->section_of)); return;
    case SCN_IS_TEXTS:
      fputs("{\"type\": \"array\", \"items\": ", out);
      if (k->words) print_pattern(out, k->words);
      else fputs("{\"type\": \"string\"}", out);
      fputs("}", out);
      return;
    case SCN_IS_FACTS:
      fputs(strcmp(k->name, "*") == 0 ? "{\"$ref\": \"#/$defs/value\"}" : "{\"$ref\": \"#/$defs/facts\"}", out);
      return;
    case SCN_IS_HEADERS: fputs("{\"type\": \"object\"}", out); return;
    case SCN_IS_RANGE: fputs("{\"type\": \"string\", \"pattern\": "
                             "\"^[0-9]+[a-z]*\\\\.\\\\.[0-9]+[a-z]*$\"}", out); return;
    default: fputs("{\"type\": [\"object\", \"array\"]}", out); return; /* SCN_IS_MATRIX */
  }
}

/* Any scalar may also be taken from the matrix. */
static void print_key(FILE *out, const struct scn_key *k) {
  fputs("{\"description\": ", out);
  quote(out, k->help);
  fputs(", \"examples\": [", out);
  quote(out, k->example);
  fputs("], \"anyOf\": [{\"type\": \"string\", \"pattern\": \"\\\\$\\\\{\"}", out);
  for (unsigned form = 1; form <= SCN_IS_RANGE; form <<= 1) {
    if (!(k->forms & form)) continue;
    fputs(", ", out);
    print_form(out, k, form);
  }
  fputs("]}", out);
}

static void print_required(FILE *out, const char *section) {
  const char *between = "";
  fputs("    \"required\": [", out);
  for (size_t i = 0; i < scn_key_count; i++) {
    if (scn_keys[i].standard || strcmp(scn_keys[i].section, section) != 0) continue;
    fputs(between, out);
    quote(out, scn_keys[i].name);
    between = ", ";
  }
  fputs("],\n", out);
}

/* A section's keys may stand in several runs of the table only if the table repeats it; it does not. */
static void print_section(FILE *out, size_t first) {
  const char *section = scn_keys[first].section;
  fprintf(out, "  \"%s\": {\n    \"type\": \"object\",\n", definition(section));
  print_required(out, section);
  fputs("    \"properties\": {\n", out);
  const char *between = "";
  for (size_t i = first; i < scn_key_count && strcmp(scn_keys[i].section, section) == 0; i++) {
    if (strcmp(scn_keys[i].name, "*") == 0) continue;
    fprintf(out, "%s      ", between);
    quote(out, scn_keys[i].name);
    fputs(": ", out);
    print_key(out, &scn_keys[i]);
    between = ",\n";
  }
  fputs("\n    },\n    \"additionalProperties\": ", out);
  fputs(scn_section_takes_facts(section) ? "{\"$ref\": \"#/$defs/value\"}" : "false", out);
  fputs("\n  }", out);
}

/* Counter names; what stands in a bracket is free. */
static void print_names(FILE *out) {
  fputs("  \"value\": {\"type\": [\"integer\", \"string\", \"array\"]},\n"
        "  \"facts\": {\n    \"type\": \"object\",\n    \"additionalProperties\": false,\n"
        "    \"patternProperties\": {\n", out);
  for (size_t i = 0; i < scn_name_count(); i++) {
    fputs(i ? ",\n      \"^" : "      \"^", out);
    for (const char *c = scn_name_at(i)->name; *c; c++) {
      if (*c == '[') fputs("\\\\[[^\\\\]]+\\\\]", out), c++;
      else if (*c == '.') fputs("\\\\.", out);
      else fputc(*c, out);
    }
    fputs("$\": {\"$ref\": \"#/$defs/value\", \"description\": ", out);
    quote(out, scn_name_at(i)->help);
    fputs("}", out);
  }
  fputs("\n    }\n  }", out);
}

void scn_schema(FILE *out) {
  fputs("{\n\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
        "\"title\": \"qwpkit scenario\",\n\"$ref\": \"#/$defs/file\",\n\"$defs\": {\n", out);
  for (size_t i = 0; i < scn_key_count; i++) {
    if (i && strcmp(scn_keys[i].section, scn_keys[i - 1].section) == 0) continue;
    print_section(out, i);
    fputs(",\n", out);
  }
  print_names(out);
  fputs("\n}\n}\n", out);
}
