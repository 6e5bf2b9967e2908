import type { App } from "../app.ts";
import type { ExitCode } from "../errors.ts";
import { declare, type Rule, toggle, valued, type ValuesOf } from "../flags/declare.ts";
import { BODY, datasetOption, forceOption, RUN, type RunFlags, SERVICE, TYPE_CHANGE } from "../flags/flags.ts";
import { refused } from "../flags/refuse.ts";
import { collectPair, parseNonEmpty, parseOut } from "../flags/values.ts";
import { applyCommand } from "./docs/apply.ts";
import { show } from "../text/show.ts";
import { FORMAT } from "../workflows/lists/list-output.ts";
import { requireDataset } from "../workflows/dataset.ts";
import { openRun } from "../workflows/open-run.ts";
import { VALUES } from "../workflows/plan/open-plan.ts";
import { checkOut } from "../workflows/outputs/out-file.ts";
import { changeValues, mappedChange, renamingChange, readMap } from "../workflows/values/change-values.ts";
import { listValues } from "../workflows/values/list-values.ts";

const OPTIONS = {
	...RUN,
	...FORMAT,
	...BODY,
	...TYPE_CHANGE,
	dataset: datasetOption(),
	map: valued("--map <file>", "changes the values of the key by a map with the columns old and new", parseNonEmpty),
	rename: valued("--rename <old=new>", "renames a key in all documents (repeatable)", collectPair),
	out: valued(
		"-o, --out <file>",
		"writes the values of the key into a map; or the changes into a plan for docs apply",
		parseOut,
	),
	dryRun: toggle("-n, --dry-run", "shows what would change, and sends nothing that writes"),
	detailedExitcode: toggle("--detailed-exitcode", "with --dry-run: exit 10 if anything would change"),
	force: forceOption("also changes documents that another client changes meanwhile; replaces the plan of --out; "),
};

type ValuesOptions = RunFlags & ValuesOf<typeof OPTIONS> & { readonly key: string | undefined };

/** Options that mean something where nothing is changed, beside those of the service, and those that say what is changed. */
const LISTING = new Set("dataset format out json map rename".split(" "));

const RULES: readonly Rule[] = [
	["--map", "excludes", "--rename", "Change the values first, then the names of keys."],
	["--map", "needs", "KEY", "Type: ragtag values KEY --map FILE"],
	["--rename", "excludes", "KEY", "Leave KEY out."],
	["--detailed-exitcode", "needs", "--dry-run"],
	[
		"--verify sample or --verify all",
		"excludes",
		"--dry-run or --out",
		"--verify reads back what was written, and nothing is written.",
	],
	["--format", "excludes", "--map or --rename", "For changes as JSON lines use --json."],
	...Object.entries(OPTIONS).flatMap(([name, { long = "" }]): Rule[] =>
		name in SERVICE || LISTING.has(name) ? [] : [[long, "needs", "--map or --rename", `Leave ${long} out.`]],
	),
];

export const valuesCommand = declare({
	summary: "count the metadata keys of a dataset, or the values of one key, and change them",
	description:
		"Counts the metadata keys of a dataset with their types, or the values of one key. The column like names the " +
		"commoner key or value that this one may be a misspelling of. --out writes the values of a key into a map: fill " +
		"its column new, where !delete removes a value and an empty cell changes nothing, then give it to --map. The " +
		"changes are an ordinary run, which runs undo takes back.",
	examples:
		"ragtag values -d DATASET\nragtag values category -d DATASET\nragtag values category -d DATASET --out map.csv\n" +
		"ragtag values category -d DATASET --map map.csv --dry-run\nragtag values -d DATASET --rename author=writer",
	arguments: { "[key]": "a metadata key; without one, the keys are counted" },
	options: OPTIONS,
	rules: RULES,
	run: values,
	// Its record has the plan that it made.
	resume: applyCommand.resume,
});

async function values(options: ValuesOptions, app: App): Promise<ExitCode> {
	const { key, map, rename, out, force = false } = options;
	if (rename !== undefined) checkNames(rename);
	if (map === undefined && rename === undefined) {
		if (out !== undefined && key === undefined)
			throw refused("--out needs a KEY", "Type: ragtag values KEY --out FILE");
		if (out !== undefined && (options.format !== undefined || options.json === true)) {
			throw refused("--out writes a map, which is always CSV", "Leave --format and --json out.");
		}
		return listValues(options, app);
	}
	if (out !== undefined) await checkOut(out, force);
	const { format: _, ...flags } = options;
	await using run = await openRun(VALUES, flags, app);
	const dataset = requireDataset(VALUES, run.flags.dataset);
	if (rename !== undefined) return await changeValues(run, dataset, renamingChange(rename));
	const read = await readMap(run, map ?? "", key ?? "");
	return await changeValues(run, dataset, mappedChange(key ?? "", read.map, read.manifest));
}

/** @throws CliError exit 2 where the names of renamed keys clash */
function checkNames(rename: readonly (readonly [from: string, to: string])[]): void {
	const names = rename.flat();
	const twice = names.find((name, at) => names.indexOf(name) !== at);
	if (names.includes("")) throw refused("--rename takes OLD=NEW, and neither may be empty");
	if (twice === undefined) return;
	throw refused(`--rename names the key ${show(twice)} twice`, "Rename one after the other.");
}
