import type { JsonRules } from "../json/lexer.ts";

/** Bytes of the manifest that are hashed as one: a change is noticed before any row of its block is used. */
export const BLOCK_BYTES = 256 * 1024;

/**
 * Bytes decoded at a time: some hundred rows. They are let go of together, so that memory does not follow the size of the
 * manifest. Of four times as many, a collection of young objects finds most alive, and copies them.
 */
export const PIECE_BYTES = 16 * 1024;

/** Longest cell or JSON string, in characters: without a limit one stray quote would take the whole file. */
export const MAX_CELL = 1024 * 1024;

/** Longest record, in characters. */
export const MAX_RECORD = 4 * 1024 * 1024;

/** Most columns of a header. Each is checked by itself, and no document has as many keys. */
export const MAX_COLUMNS = 128 * 1024;

/** Deepest nesting of JSON that is read: a row, its `meta_fields`, and what metadata may have. A hostile file nests more. */
const MAX_DEPTH = 66;

/** Most faults reported of one row: as many of its JSON text, and as many of the schema. The rest of the row is not read. */
export const MAX_ROW_FAULTS = 100;

/** Bytes of a schema at most: some thousand times a usual one. */
export const MAX_SCHEMA = 4 * 1024 * 1024;

/** Seconds that the compilation of a schema may take. It blocks the program. */
export const MAX_COMPILE_SECONDS = 5;

/** Seconds that a schema may take for the rows of a piece of a manifest: ordinary schemas take microseconds for each. */
export const MAX_CHECK_SECONDS = 1;

/** Longest id, in characters. */
export const MAX_ID = 256;

/** A gzip that grows by more than this, and beyond `MAX_UNPACKED`, is a bomb and not a manifest. */
export const MAX_RATIO = 200;
export const MAX_UNPACKED = 1024 * 1024 * 1024;

/** Bytes of a workbook at most. All are in memory: the list of its parts stands at its end. */
export const MAX_WORKBOOK = 256 * 1024 * 1024;

/** Bytes of the part of a workbook that has its texts. They are in memory, too. */
export const MAX_TEXTS = 256 * 1024 * 1024;

/** The rules for the JSON of a manifest, of a schema and of a `:json` cell. */
export const MANIFEST_JSON: JsonRules = { maxDepth: MAX_DEPTH, maxString: MAX_CELL, maxFaults: MAX_ROW_FAULTS - 1 };
