export { checkManifest } from "./check.ts";
export { readSchema } from "./rows/schema.ts";
export { parseSetting } from "./setting.ts";
export { ColumnPlan, formatCsvManifest, type ManifestDocument } from "./write.ts";
