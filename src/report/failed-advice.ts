/** Codes of rows that fail again however often they are sent as they are. */
const SAME_AGAIN: ReadonlySet<string> = new Set([
	"AMBIGUOUS_NAME",
	"BAD_ID",
	"EXISTS",
	"FILE_EXISTS",
	"INEXACT_NUMBER",
	"KEYS_KEPT",
	"METADATA_REFUSED",
	"NO_FOLDERS",
	"NOT_FOUND",
	"OTHER_CASE",
	"RENAMED",
	"STALE_FILE",
	"VALUE_NOT_TAKEN",
]);

/** Statuses of refusals that may pass: rights, time, conflicts, size and pace. Size is a setting of the server. */
const MAY_PASS = ["HTTP_403", "HTTP_408", "HTTP_409", "HTTP_413", "HTTP_425", "HTTP_429"];

function mayPass(code: string): boolean {
	return !SAME_AGAIN.has(code) && (!/^HTTP_4\d\d$/.test(code) || MAY_PASS.includes(code));
}

/**
 * The next step after rows failed.
 *
 * @param codes of the failed rows
 * @param path the file of these rows
 * @param retry the command that sends them again as they are
 */
export function failedAdvice(codes: readonly string[], path: string, retry: string): string {
	const hasOnly = (code: string): boolean => codes.length > 0 && codes.every((each) => each === code);
	if (hasOnly("EXISTS")) {
		return `These documents are there already: --on-existing skip leaves them alone, --on-existing update-metadata writes their metadata.`;
	}
	if (hasOnly("FILE_EXISTS")) return "These files are there already: --force writes over them.";
	if (codes.includes("NO_FOLDERS") && codes.every((each) => each === "NO_FOLDERS" || each === "RENAMED")) {
		return "The service drops folders of names: upload the files again with --names flat.";
	}
	if (hasOnly("PROXY_REFUSED")) {
		return `Ask who runs the proxy to let the requests through, then send the rows again: ${retry}`;
	}
	if (hasOnly("HTTP_413")) return `Raise the limit of the proxy or the service, then send the rows again: ${retry}`;
	// Their files are stored, and a manifest of them would be refused.
	if (codes.length > 0 && codes.every((code) => code.startsWith("PARSE_"))) {
		return `Parse these documents again, once what the service names is mended: ${retry}`;
	}
	const correct = `Correct ${path} and send it as a manifest`;
	const skip = codes.includes("EXISTS") ? " with --on-existing skip, which leaves alone what is there" : "";
	if (codes.length > 0 && !codes.some(mayPass)) return `${correct}${skip}: the same rows would fail again.`;
	return `${correct}${skip}, or try the same rows again: ${retry}`;
}
