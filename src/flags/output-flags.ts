import { type Command, Option } from "commander";
import { parseNonEmpty } from "./values.ts";

/** Options of commands that run rows: files for other programs. `src/run-end.ts` has their values. */
export function addOutputOptions(command: Command): Command {
	return addCheckOutputOptions(command)
		.option("--metrics-file <file>", "the run as metrics, for the folder of a Prometheus node exporter", parseNonEmpty)
		.option("--ping <url>", "a monitor such as healthchecks.io, told when the run starts and how it ends");
}

/** The same of commands that check a manifest, and send nothing of its rows. */
export function addCheckOutputOptions(command: Command): Command {
	return command
		.option("--junit <file>", "the run as a JUnit test report, one case a failed or invalid row", parseNonEmpty)
		.addOption(
			new Option(
				"--annotations <form>",
				"problems and failed rows at the lines of the manifest; gitlab writes gl-code-quality-report.json",
			)
				.choices(["auto", "github", "gitlab", "none"])
				.default("auto"),
		);
}
