import { existsSync, readFileSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";
import process from "node:process";
import { resultRedactor } from "../src/text/redactor.ts";
import { strayKeys } from "../src/text/stray-keys.ts";
import { VERSION } from "../src/version.ts";

/** The commands whose help the build has written into `dist/help`, as "docs tag"; undefined in the executable. */
declare const __RAGTAG_COMMANDS__: readonly string[] | undefined;

/** `docs tag --help` is in `docs-tag---help.txt`, and `-h` in `-h.txt`. */
const HELP_FOLDER = new URL("../help/", import.meta.url);

/**
 * The whole answer to a command line that needs nothing of the program, which takes far longer to load: the version, and the
 * help of a command. Undefined where the program must answer.
 *
 * The help of a terminal is as wide as the terminal, so the program writes it. A key of the environment is masked, as in each
 * output of the program.
 */
export function earlyAnswer(
	argv: readonly string[],
	env: Readonly<Record<string, string | undefined>>,
	isTerminal: boolean,
): string | undefined {
	if (argv.length === 1 && argv[0] === "--version") return `${VERSION}\n`;
	if (isTerminal || typeof __RAGTAG_COMMANDS__ === "undefined") return undefined;
	const last = argv.at(-1);
	if (last !== "--help" && last !== "-h") return undefined;
	const command = argv.slice(0, -1).join(" ");
	if (!__RAGTAG_COMMANDS__.includes(command)) return undefined;
	const text = helpText(argv.join("-").replaceAll(" ", "-"));
	if (text === undefined) return undefined;
	const { certain } = strayKeys(argv, env, existsSync);
	return [...certain].reduce((shown, key) => resultRedactor(key)(shown), text);
}

function helpText(name: string): string | undefined {
	try {
		return readFileSync(fileURLToPath(new URL(`${name}.txt`, HELP_FOLDER)), "utf8");
	} catch {
		// The program itself knows it too.
		return undefined;
	}
}

/** Writes an answer to standard output. Where that fails, the exit code is 74, and standard error says why. */
export function printAndEnd(text: string): void {
	const { stdout } = process;
	stdout.on("error", fail);
	try {
		// Node takes a short write to a file, as on a full disk, for a whole one.
		if (isFile(stdout)) writeWhole(stdout.fd, text);
		else stdout.write(text);
	} catch (error) {
		fail(error instanceof Error ? error : new Error(String(error)));
	}
}

function fail({ code, message }: NodeJS.ErrnoException): void {
	if (code === "EPIPE") return;
	// Standard output, as in src/errors.ts, which is not loaded here.
	process.exitCode = 74;
	process.stderr.write(`ragtag: standard output could not be written: ${message}\n`);
}

/** Node has a stream of its own for files, which writes at once and has no state of a pipe or a terminal. */
function isFile(stream: NodeJS.WriteStream): boolean {
	return !("readyState" in stream);
}

function writeWhole(file: number, text: string): void {
	let bytes = Buffer.from(text, "utf8");
	while (bytes.length > 0) bytes = bytes.subarray(writeSync(file, bytes));
}
