import { expect, test } from "vitest";
import { Exit } from "../../../src/errors.ts";
import { flavours } from "../../../src/rest/flavours.ts";
import { requireCall } from "../../../src/run/service/detect-flavour.ts";
import { direct, fakeApi } from "../fake-api.ts";

test("a service without a call ends the command with exit 2, and other services do not", async () => {
	const ends = await Promise.all(
		flavours.map(async (flavour) => {
			const api = fakeApi([], { dialect: { flavour, form: "json" } });
			const service = { known: () => Promise.resolve(api) };
			const end = await requireCall({ service, request: direct }, "parse", "docs parse").catch(
				(error: unknown) => error,
			);
			return [flavour.name, end];
		}),
	);
	const refusal = expect.objectContaining({
		exit: Exit.usage,
		message: expect.stringContaining("docs parse: this service documents no such call"),
	});
	expect(Object.fromEntries(ends)).toEqual({
		"ragflow-1.0": undefined,
		"ragflow-put": undefined,
		"ragflow-patch": undefined,
		documented: refusal,
	});
});
