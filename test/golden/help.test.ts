import { expect, it } from "vitest";
import { ragtag } from "../support/ragtag.ts";
import { at, items, parse } from "../support/values.ts";
import { Transcript } from "./transcript.ts";

const COMMANDS = [
	"",
	"datasets",
	"datasets list",
	"datasets create",
	"docs",
	"docs list",
	"docs tag",
	"docs plan",
	"docs apply",
	"docs download",
	"docs upload",
	"docs sync",
	"docs rm",
	"docs show",
	"docs parse",
	"docs resolve",
	"values",
	"manifest",
	"manifest check",
	"manifest from",
	"manifest init",
	"runs",
	"runs list",
	"runs show",
	"runs resume",
	"runs retry",
	"runs undo",
	"runs verify",
	"runs adjust",
	"runs blame",
	"runs merge",
	"runs report",
	"runs repair",
	"runs prune",
	"doctor",
	"sandbox",
	"completion",
	"help",
];

it("the help of each command, whole", async () => {
	const say = await Transcript.start();
	for (const command of COMMANDS) await say.run([...command.split(" ").filter(Boolean), "--help"]);
	for (const topic of ["exit-codes", "environment", "manifest"]) await say.run(["help", topic]);
	for (const mistake of ["docs remove", "docs tgg", "docs list --wher a=b"]) await say.run(mistake.split(" "));
	await say.matches("help");
});

it("the list above has each command of the tree", async () => {
	const { exit, stdout } = await ragtag(["help", "--json"]);
	const [version = "", tree = "", ...others] = stdout.trimEnd().split("\n");
	expect([exit, others, at(parse(version), "type")]).toEqual([0, [], "version"]);
	const commands = items(at(parse(tree), "commands")).map((entry) => String(at(entry, "command")));
	expect(new Set(commands)).toEqual(new Set(COMMANDS));
});
