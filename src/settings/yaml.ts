// Named here, because a bundle gives a CommonJS package that is loaded later as its default export alone.
export { LineCounter, parseDocument } from "yaml";
