import { expect, it } from "vitest";
import { envOf, ragtag } from "../support/ragtag.ts";
import { file, serve } from "../support/service.ts";

const NEWS = "docs tag -d D --where category=news";
const SET = "--set reviewed:boolean=true --mode merge";

/** Command lines that mean nothing, and words of what is said. `M` is a manifest, and `D` the id of a dataset. */
const LINES: readonly (readonly [line: string, said: string])[] = [
	// A run could be mistaken for a preview.
	["docs tag M -d D --detailed-exitcode", "--detailed-exitcode needs --dry-run"],
	["docs tag M -d D --format csv", "--format needs --dry-run"],
	["docs tag M -d D --limit-characters 5000", "--limit-characters needs --dry-run"],
	["docs rm M -d D --detailed-exitcode", "--detailed-exitcode needs --dry-run"],
	["docs rm M -d D --format=csv", "--format needs --dry-run"],
	["docs upload M -d D --detailed-exitcode", "--detailed-exitcode needs --dry-run"],
	["docs upload M -d D --format=md", "--format needs --dry-run"],
	["docs tag M -d D --dry-run --format md --json", "--format and --json exclude each other"],
	["docs tag M -d D --dry-run --format csv --limit-characters 5000", "--limit-characters needs --format md"],
	["docs tag M -d D --dry-run --verify all", "--dry-run writes nothing"],

	// Without a merge, each document would lose all its other keys.
	["docs tag M -d D --delete-token !delete", "--mode merge"],
	["docs tag M -d D --mode merge --delete-token=", "It is empty"],
	["docs tag M -d D --set author=!delete", "--mode merge"],
	["docs tag M -d D --set pages:number=!delete", "--mode merge"],
	["docs tag M -d D --set topics:list=+x", "--mode merge"],
	["manifest check M -d D --set author=!delete", "--mode merge"],
	["manifest check M -d D --set pages:number=!delete", "--mode merge"],
	["manifest check M -d D --set topics:list=+x", "--mode merge"],

	// A meaningless value is refused, not replaced by another.
	["docs tag M M -d D", "too many arguments"],
	["docs plan M -d D --out p --only-changed", "unknown option '--only-changed'"],
	["docs plan M -d D --out p --chunk 5", "unknown option '--chunk'"],
	["docs apply", "missing required argument 'file'"],
	["docs apply M --mode merge", "unknown option '--mode'"],
	["docs apply M --set a=1", "unknown option '--set'"],
	["docs tag M -d D --rate 0", "'--rate <n>' argument '0' is invalid"],
	["docs tag M -d D --rate 1e3", "'--rate <n>' argument '1e3' is invalid"],
	["docs tag M -d D --timeout 5min", "as in 500ms, 60s"],
	["docs tag M -d D --timeout -1s", "as in 500ms, 60s"],
	["docs tag M -d D --attempts 0", "a whole number from 1 to 1000"],
	["docs tag M -d D --max-wait 0", "as in 500ms, 60s"],
	["docs tag M -d D --max-outage soon", "as in 500ms, 60s"],
	["docs tag M -d D --max-duration -1h", "as in 500ms, 60s"],
	["docs tag M -d D --chunk 1.5", "a whole number from 1 to"],
	["docs tag M -d D --concurrency 0", "a whole number from 1 to"],
	["docs tag M -d D --max-errors 0", "as in 5%"],
	["docs tag M -d D --max-errors 101%", "as in 5%"],
	["docs tag M -d D --map =b", "LEFT=RIGHT"],
	["docs tag M -d D --map title", "LEFT=RIGHT"],
	["docs tag M -d D --empty nothing", "Allowed choices are skip, null, text"],
	["docs tag M -d D --api-key secret", "Keys are not taken from flags"],
	["docs tag M -d D --report /nowhere/r.html --report /nowhere/r.json", "It was given before"],
	["docs list -d D --format xml", "Allowed choices are table"],
	["sandbox --port 70000", "a whole number from 0 to 65535"],
	["sandbox --flavour ragflow-0.22", "Allowed choices are documented"],
	["sandbox --upgrade ragflow-0.26", "a whole number from 1"],
	["sandbox --upgrade ragflow-0.26:0", "a whole number from 1"],
	["sandbox --upgrade ragflow-0.26:1:2", "NAME:N"],
	["sandbox --upgrade newest:10", "NAME:N"],
	["sandbox --ties loose", "Allowed choices are stable, unstable"],
	["doctor --api-key secret", "Keys are not taken from flags"],
	["manifest check M --for list", "Allowed choices are tag"],

	[`docs tag -d D ${SET}`, "a MANIFEST or a filter"],
	[`docs tag M -d D --where category=news ${SET}`, "MANIFEST and --where exclude each other"],
	["docs tag --where category=news --set a=1 --mode merge", "-d DATASET"],
	[`${NEWS} --mode merge`, "--set KEY=VALUE"],
	[`${NEWS} --set a=1`, "--mode merge"],
	[`${NEWS} --set a=1 --mode replace`, "--mode merge"],
	[`${NEWS} ${SET} --resume`, "ragtag runs resume"],
	[`${NEWS} ${SET} --map a=b`, "--map needs MANIFEST"],
	[`${NEWS} ${SET} --ignore a`, "--ignore needs MANIFEST"],
	// As it is by default.
	[`${NEWS} ${SET} --empty skip`, "--empty needs MANIFEST"],
	[`${NEWS} ${SET} --on-duplicate error`, "--on-duplicate needs MANIFEST"],
	[`${NEWS} ${SET} --set publish_date=banana`, 'publish_date: "banana"'],
	[`${NEWS} ${SET} --set n:number=x`, "n: "],
	[`docs tag -d D --where-json {} ${SET}`, "--where-json"],
	[`${NEWS} ${SET} --failed /nowhere/at/all.csv`, "--failed"],

	["docs tag M -d D --base-url rag.example.com", "http"],
	["docs tag M -d D --base-url http://u:p@127.0.0.1", "password"],
	["docs tag M -d D --failed /nonexistent/failed.csv", "--failed"],
	["docs tag M -d D --schema /nonexistent/schema.json", "schema"],
	["docs tag M -d D --ca-file /nonexistent/ca.pem", "ca"],
	["docs tag M -d D --profile nobody", "nobody"],
	["docs tag M -d D --shard 9/8", "2/8"],
	["docs tag M -d D --shard auto", "JOB_COMPLETION_INDEX"],
	[`${NEWS} ${SET} --shard 1/2`, "part of a manifest"],
	["docs rm -d D --id x --yes --shard 1/2", "part of a manifest"],
	["docs upload -d D M --as files --shard 1/2", "part of a manifest"],
	["docs tag M -d D --report run.pdf", ".html, .md or .json"],

	["docs plan M -d D", "--out"],
	["docs plan M -d D --out -", "- is none"],
	["docs plan M -d D --out plan.jsonl --delete-token !delete", "--mode merge"],
	// An invalid row may name a document.
	["docs plan M -d D --out plan.jsonl --undeclared report --skip-invalid", "exclude each other"],
	["docs plan M -d D --out plan.jsonl --rate 25:00=20", "or a timetable as in '08:00=20 20:00=100'"],

	["docs upload M -d D --wait", "--wait needs --parse"],
	["docs upload M -d D --parse --stall-time 1m", "--stall-time needs --wait"],
	["docs upload M -d D --names flat", "--names is for files and folders"],
	["docs upload -d D -0", "-0 needs --files-from"],
	["docs upload -d D", "name a manifest, files or folders"],
	["docs upload M Mx -d D --as files", "Mx"],

	["docs sync papers", "-d DATASET"],
	["docs sync papers -d D --delete-excluded", "--delete-excluded needs --remove"],
	["docs sync papers -d D --max-remove 5", "--max-remove needs --remove"],
	["docs sync papers -d D -0", "-0 needs --files-from"],
	["docs sync papers -d D --wait", "--wait needs --parse"],
	["docs sync papers -d D --strict", "--strict needs --pattern"],

	["docs parse ids.csv -d D --id x", "MANIFEST and --id exclude each other"],
	["docs parse -d D --only-failed --again", "exclude each other"],
	["docs parse -d D --stall-time 1m", "--stall-time needs --wait"],

	// As an unset variable gives it.
	["docs rm -d D --yes --id=", "id"],
	["docs rm -d D --yes --id .", "id"],
	["docs rm -d D --yes --id ..", "id"],
	["docs rm M -d D --yes --id a", "MANIFEST and --id exclude each other"],
	["docs rm -d D --yes", "either a MANIFEST, or --id and --name"],
	["docs download -d D --out papers --name a.md --id x", "--id and --name exclude each other"],
	["docs tag - -d D --api-key-file -", "both the manifest and the API key"],

	["docs list", "-d DATASET"],
	["docs list -d D --rate 08:00", "or a timetable as in '08:00=20 20:00=100'"],
	["docs list -d D --limit 0", "whole number"],
	["docs list -d papers --id x --missing a", "--id and --missing exclude each other"],
	["docs list -d D --sort -", "names no field"],
	["docs list -d D --sort meta_fields", "Name one key"],
	["docs list -d D --fields a,,b", "empty name"],
	["docs list -d D --parsing OK", "is no state"],
	["docs show x", "-d DATASET"],
	["datasets list --rate 08:00=20,20:00=100", "or a timetable as in '08:00=20 20:00=100'"],

	["values k --map m.csv", "values needs a dataset; nothing was sent\nName it with -d"],
	["values", "values needs a dataset; nothing was sent\nName it with -d"],
	["values -d D --map m.csv", "--map needs KEY"],
	["values k -d D --rename a=b", "--rename and KEY exclude each other"],
	["values k -d D --map m.csv --rename a=b", "exclude each other"],
	["values -d D --rename a=b --rename b=c", "names the key b twice"],
	["values -d D --rename a=", "neither may be empty"],
	["values k -d D -n", "--dry-run needs --map or --rename"],
	["values -d D --chunk 5", "--chunk needs --map or --rename"],
	["values -d D -o m.csv", "--out needs a KEY"],
	["values k -d D -o m.csv --json", "always CSV"],
	["values k -d D --map m.csv --format csv", "--format and --map exclude each other"],
	["values k -d D --map m.csv --detailed-exitcode", "needs --dry-run"],
	["values k -d D --map m.csv -n --verify all", "nothing is written"],

	["manifest check no-such-file.csv --encoding klingon", "windows-1252, iso-8859-15 or macintosh"],
	["manifest check no-such-file.csv --date-format DD.MM.YY", "a year has four letters"],
	["manifest check no-such-file.csv --list-separator=", "must not be empty"],
	["manifest check no-such-file.csv --true ja,,x", "A word is empty"],

	["runs adjust", "there is nothing to change"],
	["runs adjust --pause --continue", "--pause and --continue exclude each other"],
	["runs adjust --rate fast", "or a timetable as in '08:00=20 20:00=100'"],
	// As 90 seconds it would remove nearly all records of undos.
	["runs prune --older-than 90", "Did you mean 90d?"],
	["help --json docs", "WORDS and --json exclude each other"],
	["help runs --search rate", "WORDS and --search exclude each other"],
];

it.each(LINES)("%s is exit 2 with a next step, and nothing is sent", async (line, said) => {
	const service = await serve(1);
	const manifest = await file("tags.csv", "document_id,file\na,a.txt\n");
	const words = line.split(" ").map((word) => (word === "M" ? manifest : word === "D" ? service.dataset : word));
	const { exit, stdout, stderr } = await ragtag([...words, ...(words[0] === "docs" ? ["--debug"] : [])], {
		env: envOf(service),
	});
	expect([exit, stdout, stderr]).toEqual([2, "", expect.stringContaining(said)]);
	expect(stderr).not.toContain("    at ");
	expect(service.requests).toEqual([]);
});
