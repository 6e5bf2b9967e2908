import { extname } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { choice, parseNonEmpty } from "./values.ts";

/** Ends of names of reports. Each stands for a form. */
const REPORT_ENDS = [".html", ".md", ".json"];

/** The file of `--report`. @throws InvalidArgumentError where its name does not say the form, or another form was given */
function parseReportFile(path: string, previous: string | undefined): string {
	if (previous !== undefined) throw new InvalidArgumentError(`It was given before, with ${previous}; give it once.`);
	if (REPORT_ENDS.includes(extname(path).toLowerCase())) return parseNonEmpty(path);
	throw new InvalidArgumentError("Its name must end in .html, .md or .json.");
}

/** The report of a run, which `runs report` writes too. */
export function addReportOption(command: Command): Command {
	return command.option("--report <file>", "the run as a page: .html, or .md or .json by the name", parseReportFile);
}

/** Options of commands that run rows: files for other programs. `src/run-end.ts` has their values. */
export function addOutputOptions(command: Command): Command {
	return addReportOption(addCheckOutputOptions(command))
		.option("--metrics-file <file>", "the run as metrics, for the folder of a Prometheus node exporter", parseNonEmpty)
		.option("--ping <url>", "a monitor such as healthchecks.io; it gets a request at the start and at the end");
}

/** The same of commands that check a manifest, and send nothing of its rows. */
export function addCheckOutputOptions(command: Command): Command {
	return command
		.option("--junit <file>", "the run as a JUnit test report, one case a failed or invalid row", parseNonEmpty)
		.addOption(
			choice(
				"--annotations <form>",
				["auto", "github", "gitlab", "none"],
				"problems and failed rows at the lines of the manifest; gitlab writes gl-code-quality-report.json",
			),
		);
}
