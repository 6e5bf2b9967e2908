// Named here, because a bundle gives a CommonJS package that is loaded later as its default export alone.
import addFormats from "ajv-formats";

export { Ajv } from "ajv";
export { Ajv2020 } from "ajv/dist/2020.js";

export const formats = addFormats.default;
