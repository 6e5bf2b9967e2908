import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { liar } from "../support/liar.ts";
import { program, shell } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder } from "../support/service.ts";
import { at, parse } from "../support/values.ts";

/** Clears the screen, names the window, writes to the clipboard, hides what follows, turns text around; 7 bits and 8. */
const HOSTILE = "x\u001b[2J\u001b]0;title\u0007\u001b]52;c;aGk=\u0007\u001b[8mhidden\u009b31m\u202Egnp.exe\rover\u007f";

const onTerminal = spawnSync("script", ["--version"]).status === 0;

/** What the program writes to a terminal, byte by byte, without the line ends that the terminal makes. */
async function seen(argv: string, env: Record<string, string>): Promise<string> {
	const out = join(await folder(), "out");
	const COMMAND = `exec $RAGTAG ${argv}`;
	const line = `SHELL=/bin/bash script -qefc "$COMMAND" ${out} > /dev/null; cat ${out}`;
	const { stdout } = await shell(line, { ...env, COMMAND, TERM: "xterm-256color", FORCE_COLOR: "1" });
	return stdout.replaceAll("\r\n", "\n").replaceAll(/^Script (?:started|done).*\n/gm, "");
}

/** All that moves, hides or turns. */
const DANGEROUS = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u;

/** The text without the colours that are the program's own. */
const withoutColours = (text: string): string =>
	[1, 2, 22, 31, 32, 33, 36, 39].reduce((rest, code) => rest.replaceAll(`\u001b[${code}m`, ""), text);

const world = (): Promise<Awaited<ReturnType<typeof liar>>> =>
	liar(1, ({ method, path, query }) => {
		if (method === "POST" && path === "/api/v1/datasets") return { code: 0, data: { id: HOSTILE, name: "NEW" } };
		if (method === "POST") return { code: 0, data: [{ id: HOSTILE, name: "a.txt", size: 4 }] };
		if (path === "/api/v1/datasets") return { code: 0, data: [{ id: "set", name: HOSTILE, document_count: 1 }] };
		if (method !== "GET") return undefined;
		const doc = { id: query.get("id") ?? "doc-0", name: HOSTILE, size: 4, meta_fields: { [HOSTILE]: HOSTILE } };
		const named = query.get("id") === HOSTILE || query.get("keywords") !== null ? { ...doc, name: "a.txt" } : doc;
		return { code: 0, data: { total: 1, docs: query.get("page") === "2" ? [] : [named] } };
	});

const COMMANDS: readonly string[] = [
	"datasets list",
	"datasets list --format tsv",
	"datasets list --format csv",
	"datasets list --format json",
	"datasets list --format jsonl",
	"datasets create NEW",
	"docs list -d set",
	"docs list -d set --format tsv",
	"docs list -d set --format csv",
	"docs list -d set --format json",
	"docs list -d set --format jsonl",
	"manifest init -d set",
	"docs upload FILE -d set",
	"docs upload FILE -d set --json",
	"docs tag TAGS -d set --dry-run",
	"docs tag TAGS -d set --dry-run --format csv",
	"docs tag TAGS -d set --dry-run --format md",
	"docs tag TAGS -d set --dry-run --json",
];

it.skipIf(!onTerminal).each(COMMANDS)(
	`on a terminal %s obeys nothing that a service has put into a name or value${onTerminal ? "" : " (skipped: there is no program `script`)"}`,
	async (command) => {
		const service = await world();
		const path = await file("a.txt", "text");
		const tags = await file("tags.csv", "document_id,a\ndoc-0,1\n");
		const text = await seen(command.replace("FILE", path).replace("TAGS", tags), envOf(service));
		expect(withoutColours(text)).not.toMatch(DANGEROUS);
		expect(text.trim()).not.toBe("");
	},
);

it.each([
	["docs list -d set --format jsonl", (text: string) => at(parse(text), "name")],
	["datasets create NEW", (text: string) => text.slice(0, -1)],
])("in a pipe %s prints every byte as the service sent it", async (command, read) => {
	const { exit, stdout } = await program(command.split(" "), envOf(await world()));
	expect(exit).toBe(0);
	expect(read(stdout)).toBe(HOSTILE);
});
