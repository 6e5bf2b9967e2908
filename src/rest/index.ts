export { type ApiOptions, createApi } from "./api.ts";
export { documented, type Flavour, flavourNamed } from "./flavours.ts";
export { normaliseBaseUrl } from "./base-url.ts";
export { RestError } from "./errors.ts";
export { checkKey } from "./key.ts";
export { proxyFor } from "./proxy.ts";
export { createReach, type Reach } from "./preflight/index.ts";
export type * from "./types.ts";
