import fc from "fast-check";
import { expect, it } from "vitest";
import { collisions, exactKey, nameFault, storedName } from "../../src/files/stored-names.ts";

it.each([
	["hr/2024/a.pdf", "path", "hr/2024/a.pdf"],
	["hr/2024/a.pdf", "flat", "hr__2024__a.pdf"],
	["hr/2024/a.pdf", "base", "a.pdf"],
	["a.pdf", "path", "a.pdf"],
] as const)("stores %s by --names %s as %s", (relative, form, name) => {
	expect(storedName(relative, form)).toBe(name);
});

it.each([
	["hr/a.pdf", undefined],
	["hr/../a.pdf", "plain file name"],
	["hr//a.pdf", "plain file name"],
	["/a.pdf", "plain file name"],
	["hr\\a.pdf", "plain file name"],
	["hr/a\n.pdf", "plain file name"],
	[`${"é".repeat(127)}a`, undefined],
	[`${"é".repeat(127)}ab`, "256 bytes"],
])("judges the name %j before the first request", (name, fault) => {
	const found = nameFault(name);
	if (fault === undefined) expect(found).toBeUndefined();
	else expect(found).toContain(fault);
});

it("finds each file that another would be stored over, and no other", () => {
	const part = fc.constantFrom("a", "b", "a__b", "é", "e\u0301", "_");
	const paths = fc.uniqueArray(fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/")));
	fc.assert(
		fc.property(paths, fc.constantFrom("path", "flat", "base" as const), (relatives, form) => {
			const named = relatives.map((path) => [path, storedName(path, form)] as const);
			const found = collisions(named, exactKey);
			// Without them no two names are equal, and each names an earlier file of the same name.
			const left = named.filter(([path]) => !found.some(({ second }) => second === path));
			expect(new Set(left.map(([, name]) => name.normalize())).size).toBe(left.length);
			for (const { first, second } of found) {
				expect(storedName(first, form).normalize()).toBe(storedName(second, form).normalize());
				expect(relatives.indexOf(first)).toBeLessThan(relatives.indexOf(second));
			}
		}),
	);
});
