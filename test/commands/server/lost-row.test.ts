import { expect, it } from "vitest";
import { impatient } from "../../support/clock.ts";
import { liar } from "../../support/liar.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder } from "../../support/service.ts";
import { linesOf, summaryOf } from "../../support/values.ts";

it.each([
	[1, { exit: 1, updated: 5, failed: 1, pending: 0 }],
	[3, { exit: 6, updated: 0, failed: 3, pending: 3 }],
])(
	"%i documents that another client always writes again fail their rows; only three in a row end a later run",
	async (count, { exit, ...counts }) => {
		let isWrittenAgain = false;
		const server = await liar(6, ({ method, path }) => {
			const id = path.split("/").at(-1) ?? "";
			if (!isWrittenAgain || method !== "PUT" || Number(id.slice(4)) >= count) return undefined;
			return { code: 0, message: "Success", data: { document_id: id } };
		});
		const home = await folder();
		const tag = async (author: string) => {
			const text = `document_id,author\n${linesOf(6, (n) => `doc-${n},${author}`)}`;
			const argv = ["docs", "tag", await file("tags.csv", text), "-d", "set", "--concurrency", "1", "--json"];
			return ragtag(argv, { env: envOf(server), home, clock: impatient });
		};
		expect((await tag("first")).exit).toBe(0);
		isWrittenAgain = true;
		const later = await tag("later");
		expect([later.exit, summaryOf(later.stdout)]).toMatchObject([exit, counts]);
		expect(later.stdout).toContain('"error_code":"NOT_ARRIVED"');
	},
	30_000,
);
