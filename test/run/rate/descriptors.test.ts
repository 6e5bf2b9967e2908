import { expect, it } from "vitest";
import { connectionsWithin, mostConnections } from "../../../src/run/rate/descriptors.ts";

const text = (open: string): string =>
	`Limit                     Soft Limit           Hard Limit           Units     \nMax processes             7                    7                    processes \nMax open files            ${open}                 4096                 files     \n`;

it.each([
	["1024", 896],
	["100", 1],
	["1048576", 2_000],
	["unlimited", 2_000],
])("of %s open files, requests get no more than leaves some for records: %d", (open, most) => {
	expect(connectionsWithin(text(open))).toBe(most);
});

it("is the most where the system tells no limit", async () => {
	expect(connectionsWithin("")).toBe(2_000);
	expect(mostConnections()).toBeGreaterThan(0);
});
