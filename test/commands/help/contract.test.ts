import { describe, expect, it } from "vitest";
import { optionsByCommand } from "../../support/help-tree.ts";
import { ragtag } from "../../support/ragtag.ts";

/** Options that the contract of the command line gives to commands that run rows of a manifest. */
const ROWS =
	"--dataset --rate --limiter --concurrency --chunk --timeout --attempts --max-wait --max-outage --max-errors --max-duration --flavour --verify --force --failed --report --junit --metrics-file --annotations --ping --log-file --progress --json --quiet --debug";
const WRITES = `${ROWS} --dry-run --detailed-exitcode --format --yes`;
const MANIFEST =
	"--map --ignore --empty --schema --on-duplicate --shard --skip-invalid --allow-empty --resume --config --sheet --encoding --decimal-comma --date-format --list-separator --true --false";
const FOLDERS = "--include --exclude --files-from --null --names --follow --checksum --no-sidecars --parse --wait";

/** What the contract promises of each command. A name may leave this table only with a new major version. */
const PROMISED: readonly (readonly [command: string, options: string])[] = [
	["", "--base-url --api-key-file --api-key-command --profile --state-dir --ca-file --no-color --version"],
	["datasets list", "--format --json --rate --timeout"],
	["datasets create", "--if-missing"],
	[
		"docs list",
		"--dataset --where --where-json --missing --name --fields --limit --sort --wide --parsing --untagged --allow-empty --format --json --rate --timeout",
	],
	[
		"docs tag",
		`${WRITES} ${MANIFEST} --mode --set --only-changed --delete-token --allow-type-change --body --no-undo --where --where-json --missing --name`,
	],
	["docs plan", "--out --mode --set --dataset --map --rate --json --timeout --failed --report --undeclared"],
	["docs apply", `${WRITES.replace("--dataset ", "")} --resume --shard --body --allow-type-change`],
	["docs upload", `${WRITES} ${MANIFEST} ${FOLDERS} --as --files-root --set --on-existing --allow-type-change --body`],
	[
		"docs sync",
		`${WRITES} ${FOLDERS} --remove --delete-excluded --max-remove --adopt --trash --state --out --pattern --facts --strict --keys`,
	],
	["docs download", "--dataset --out --force --id --where --only-changed --dry-run"],
	["docs parse", "--dataset --id --only-failed --again --wait --yes --dry-run"],
	["docs rm", `${WRITES} ${MANIFEST} --id`],
	["docs resolve", "--dataset --out --map --rate --json --timeout"],
	["values", "--dataset --format --json --out --map --rename --dry-run"],
	["manifest from", "--facts --pattern --strict --keys --explain --out --include --exclude"],
	["manifest check", "--for --set --mode --dataset --map --schema --json --junit --annotations"],
	["manifest init", "--dataset --out --rate --timeout"],
	["runs resume", "--yes --rate --concurrency --force --json --failed --report"],
	["runs retry", "--rate --concurrency --force --json --failed --report"],
	["runs undo", "--yes --dry-run --force --json --failed --report"],
	["runs verify", "--verify --json --report"],
	["runs adjust", "--rate --pause --continue"],
	["runs prune", "--older-than --keep-last --yes --dry-run"],
	["sandbox", "--port --data --key --latency --documents --flavour --faults"],
];

/** Names beside those of the contract, each of which is an addition to it. A new option is written here or above. */
const ADDED =
	"--all --control --error-style --from --help --large-page --limit-characters --man-pages --match --member-key --no-adopt --page-limit --stall-time --ties --update --upgrade --search";

const commands = await optionsByCommand();

describe("options are a promise to scripts", () => {
	it.each(PROMISED)("a script that types an option of `%s` may go on typing it", (command, options) => {
		expect([...(commands.get(command) ?? [])]).toEqual(expect.arrayContaining(options.split(" ")));
	});

	it("a command has no option that stands neither in the contract nor in its additions", () => {
		const known = new Set([...PROMISED.flatMap(([, options]) => options.split(" ")), ...ADDED.split(" ")]);
		const all = new Set([...commands.values()].flatMap((flags) => [...flags]));
		expect([...all].filter((flag) => !known.has(flag))).toEqual([]);
	});

	it("each option is described in the --help of its command, and those of the program in `help options`", async () => {
		for (const [command, flags] of commands) {
			const { stdout } = await ragtag(command === "" ? ["help", "options"] : [...command.split(" "), "--help"]);
			for (const flag of flags) {
				if (command === "" && flag === "--help") continue;
				expect(stdout, command).toMatch(new RegExp(`^ {2}(?:-\\w, )?${flag}(?= |$)`, "m"));
			}
		}
	});
});
