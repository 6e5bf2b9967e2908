export { checkManifest } from "./check.ts";
export { csvLine } from "./csv/quote.ts";
export { csvFailedRows, jsonFailedRows } from "./failed-rows.ts";
export { idFault } from "./rows/ids.ts";
export { payloadText } from "./rows/identity.ts";
export { readSchema } from "./rows/schema.ts";
export { checkSettings, parseSetting } from "./setting.ts";
export { checkSidecars } from "./sidecars/check.ts";
export { ColumnPlan, formatCsvManifest, type ManifestDocument } from "./write.ts";
