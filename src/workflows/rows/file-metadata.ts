import type { App } from "../../app.ts";
import type { FileFacts } from "../../files/facts.ts";
import type { Metadata } from "../../json/values.ts";
import { type Fault, problemOf } from "../../manifest/fault.ts";
import { memberNames } from "../../manifest/json/object.ts";
import { readSidecar } from "../../manifest/json/sidecar.ts";
import { emptyRow } from "../../manifest/rows/row-reader.ts";
import { rowValidator } from "../../manifest/rows/validator.ts";
import type { ManifestOptions } from "../../manifest/types.ts";
import { excerpt } from "../../text/show.ts";
import { problemReporter } from "../check/check-manifest.ts";
import { type FactSetting, noSidecar, setFacts } from "./file-values.ts";

/**
 * The metadata of files, from their sidecars and from facts of each. Every problem is printed.
 *
 * @throws CliError exit 2 when the schema cannot be used
 */
export async function fileMetadata(app: App, json: boolean, options: ManifestOptions) {
	const validator = await rowValidator(".", options);
	const names = memberNames(options);
	const printed = problemReporter(json, app);
	let problems = 0;
	const report = async (file: string, fault: Fault, place?: Parameters<typeof problemOf>[2]): Promise<void> => {
		problems += 1;
		// Options that mend cells read no sidecar.
		await printed.report(problemOf(file, { ...fault, mend: undefined }, place));
	};
	return {
		report,
		/**
		 * What a file is to have.
		 *
		 * @param sidecar its path; undefined where the file has none
		 */
		async of(
			facts: FileFacts,
			sidecar: string | undefined,
			settings: readonly FactSetting[] = [],
		): Promise<Metadata | undefined> {
			app.signal.throwIfAborted();
			const read = sidecar === undefined ? undefined : await readSidecar(sidecar, names);
			if (sidecar !== undefined && read === undefined) {
				await report(facts.path, noSidecar(sidecar));
				return undefined;
			}
			const { parsed = emptyRow() } = read ?? {};
			const file = sidecar ?? facts.path;
			const faults = validator.faults(parsed, true);
			faults.push(...(await setFacts(settings, facts, parsed.metadata, options)));
			validator.addSchemaFaults([parsed], () => excerpt(file));
			for (const fault of faults) await report(file, fault, read?.placeOf(fault));
			return faults.length === 0 ? parsed.metadata : undefined;
		},
		/** Names of `--map` and `--ignore` that no sidecar has, each with its flag. */
		unused: () => names.unused(),
		/** Prints how many problems were not shown. @returns the number of all */
		end(): number {
			printed.end();
			return problems;
		},
	};
}
