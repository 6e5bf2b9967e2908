import { expect, it } from "vitest";
import { synced } from "../support/synced.ts";

const many = (count: number): Record<string, string> =>
	Object.fromEntries(Array.from({ length: count }, (_, n) => [`old/${1000 + n}.txt`, `text ${n}`]));

it("12 believes no upload that answers 500 or lies: exit 1, no removal, and the next sync finishes", async () => {
	const on = { method: "POST", path: "/documents$" };
	const { sync, contents, remove, write } = await synced(many(10), {
		isBuilt: true,
		faults: {
			faults: [
				{ fault: "status", status: 500, when: "before", on: { ...on, nth: [15, 35] } },
				{ fault: "lie", on: { ...on, nth: 20 } },
			],
		},
	});
	expect((await sync()).exit).toBe(0);
	await remove("old/1000.txt");
	for (let n = 0; n < 30; n++) await write(`more/${100 + n}.txt`, `more ${n}`);
	expect(await sync("--remove")).toMatchObject({ exit: 1, summary: { uploaded: 27, failed: 4, removed: 0 } });
	// The run goes on first with the two uploads whose outcome was not known, and a new one has the rest.
	expect(await sync("--remove")).toMatchObject({ exit: 0, summary: { failed: 0, removed: 1 } });
	const names = (await contents()).map(([name]) => name);
	expect([names.length, new Set(names).size, names.filter((name) => name.includes("("))]).toEqual([39, 39, []]);
	expect(await sync("--remove")).toMatchObject({ exit: 0, summary: { rows: 0 } });
});
