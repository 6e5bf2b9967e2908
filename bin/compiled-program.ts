import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, statSync, type Stats } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { cachedDataVersionTag, setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { quietly } from "../src/errors.ts";
import { writeWhole } from "../src/write-whole.ts";

/** The program as a function expression, with the parameters that Node gives to each CommonJS module. */
const FILE = fileURLToPath(new URL("../parts/program.js", import.meta.url));

/** Only the user may read or write what will run as the program. */
const FOLDER_MODE = 0o700;

/** The bits of a mode that let others write. */
const WRITE_FOR_OTHERS = 0o022;

/** The length of the CRC-32 with which a file begins: little-endian. */
const CHECKSUM_BYTES = 4;

/**
 * The flag that `src/rest/connections.ts` sets on Node 20, and the two that it sets with it, taken back: code that is
 * compiled with other flags than those of a start can't be used there.
 */
const FLAGS_OF_START = ["--no-liftoff-only", "--wasm-tier-up", "--wasm-dynamic-tiering"];

/**
 * Runs the program with the code that V8 compiled in an earlier process. Compiling takes most of the time of a short command:
 * without it a run of one row takes 7.0 times as long as `node -e 0`, with it 4.1 times. Node has a cache of its own from
 * 22.1 on. Each command has a file of its own, which holds the functions that the command called and no others. An update of
 * Node or of ragtag replaces it.
 *
 * @param build name of the program's text: V8 itself compares only its length
 * @param command the words of the command that is called, as "docs tag"; empty where they are not known
 */
export function runProgram(build: string, command: string): void {
	const folder = codeFolder(process.env);
	// The tag differs for another V8, other flags of it, or another processor.
	const tag = cachedDataVersionTag();
	const file = {
		name: `${command === "" ? "ragtag" : command.replaceAll(" ", "-")}.code`,
		made: crc32(`${build} ${tag}`),
	};
	const kept = folder === undefined ? undefined : readCode(folder, file);
	// The build writes ASCII alone, and Node reads that as Latin-1 in a tenth of the time.
	const script = new Script(readFileSync(FILE, "latin1"), { filename: FILE, cachedData: kept });
	if (folder !== undefined && (kept === undefined || script.cachedDataRejected === true)) {
		// At the end, so that the functions are in it that were compiled when they were called.
		process.once("exit", () => {
			for (const flag of FLAGS_OF_START) setFlagsFromString(flag);
			if (cachedDataVersionTag() === tag) keepCode(folder, file, script.createCachedData());
		});
	}
	const main: unknown = script.runInThisContext();
	if (typeof main !== "function") throw new Error(`${FILE} is not the program`);
	const module = { exports: {} };
	Reflect.apply(main, undefined, [module.exports, createRequire(FILE), module, FILE, dirname(FILE)]);
}

/** The command that a command line calls, as far as that is clear without reading it: it is only the name of a file. */
export function commandOf(argv: readonly string[], commands: readonly string[]): string {
	const pairs = argv.map((word, at) => `${word} ${argv[at + 1] ?? ""}`);
	return [...pairs, ...argv].find((words) => commands.includes(words)) ?? "";
}

/**
 * The folder for compiled code: `ragtag/code` in the user's folder for caches (XDG_CACHE_HOME, by default ~/.cache).
 *
 * @returns undefined where the user has no such folder, or has turned off caches of code with Node's own variables
 */
function codeFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
	// Node itself keeps no code either while it measures which lines ran.
	if ((env["NODE_DISABLE_COMPILE_CACHE"] ?? "") !== "" || (env["NODE_V8_COVERAGE"] ?? "") !== "") return undefined;
	const caches = env["XDG_CACHE_HOME"];
	// The XDG specification says to ignore a relative folder.
	if (caches?.startsWith("/")) return join(caches, "ragtag", "code");
	try {
		return join(homedir(), ".cache", "ragtag", "code");
	} catch {
		// A user that the system does not know, as in many containers, if HOME is not set.
		return undefined;
	}
}

/** A file of code, and the checksum of what made it: the build, and the tag of V8. */
type CodeFile = { readonly name: string; readonly made: number };

/**
 * The code that an earlier process has kept; undefined where there is none that can be trusted.
 *
 * V8 itself would crash on damaged code, so a checksum is compared first. What others can have written is not read: it would
 * run as this user.
 */
function readCode(folder: string, { name, made }: CodeFile): Buffer | undefined {
	try {
		if (!isOwn(statSync(folder))) return undefined;
		// The open file is checked, not the path: another file can't take its place between check and reading.
		const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
		const file = openSync(join(folder, name), flags);
		try {
			const status = fstatSync(file);
			if (!status.isFile() || !isOwn(status)) return undefined;
			const bytes = readFileSync(file);
			const code = bytes.subarray(CHECKSUM_BYTES);
			return bytes.length > CHECKSUM_BYTES && crc32(code, made) === bytes.readUInt32LE(0) ? code : undefined;
		} finally {
			closeSync(file);
		}
	} catch {
		return undefined;
	}
}

/** Keeps code for later processes. Does nothing where the folder can't be written or is open to others. */
function keepCode(folder: string, { name, made }: CodeFile, code: Buffer): void {
	try {
		// One by one: Node's recursive mkdir never ends in a folder where the system makes none, as in /proc.
		for (const each of [dirname(dirname(folder)), dirname(folder), folder])
			quietly(() => mkdirSync(each, { mode: FOLDER_MODE }));
		if (!isOwn(statSync(folder))) return;
		const checksum = Buffer.alloc(CHECKSUM_BYTES);
		checksum.writeUInt32LE(crc32(code, made));
		// Without a sync the file is written when the call returns. After a loss of power it may be empty or damaged; its
		// reader checks that.
		void writeWhole(join(folder, name), Buffer.concat([checksum, code]), { isSynced: false }).catch(() => undefined);
	} catch {
		// Such as a folder that is a file.
	}
}

/** Whether only this user and root can have written it. On a system where files have no owners, there is nothing to check. */
function isOwn({ uid, mode }: Stats): boolean {
	const user = process.geteuid?.();
	return user === undefined || ((uid === user || uid === 0) && (mode & WRITE_FOR_OTHERS) === 0);
}
