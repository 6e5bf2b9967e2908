import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { envelope } from "./kinds/envelope.ts";
import { http } from "./kinds/http.ts";
import { network } from "./kinds/network.ts";
import { processes } from "./kinds/process.ts";
import { tls } from "./kinds/tls.ts";
import { KINDS } from "./table.ts";

const TESTS = [...network, ...tls, ...http, ...envelope, ...processes];

it("every one of the 137 kinds of faults has a test, or faults.md says why it has none", () => {
	const tested = new Set(TESTS.map(({ id }) => id));
	const wrong = [...KINDS].flatMap(([id, { how }]) => {
		const held = /^held by `(.+)`$/.exec(how)?.[1];
		if (held !== undefined) return existsSync(new URL(`../../${held}`, import.meta.url)) ? [] : [`${id}: no ${held}`];
		if (!/^(?:tested|tested in part: .+|not here: .+)$/.test(how)) return [`${id} is neither tested nor excused`];
		return tested.has(id) === how.startsWith("tested") ? [] : [`${id} is not what the page says: ${how}`];
	});
	expect([wrong, KINDS.size]).toEqual([[], 137]);
});
