import { expect, it } from "vitest";
import { keysText } from "../../../src/run/documents/before-images.ts";
import { range } from "../../support/values.ts";

const service = { show: (text: string) => text.replace("secret", "***") };

it.each([
	[["title"], "title"],
	[["title", "secret"], "title, ***"],
	[range(10).map((at) => `k${at}`), "k0, k1, k2, k3, k4, k5, k6, k7, k8, k9"],
	[range(12).map((at) => `k${at}`), "k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, and 2 more"],
])("the error of a row stays one line, whatever keys the document has: %j", (keys, text) => {
	expect(keysText(service, keys)).toBe(text);
});
