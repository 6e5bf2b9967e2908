import { execFile, execFileSync } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { folder } from "./service.ts";

/** Comma, double quote, UTF-8, from the first line on. */
const PLAIN = "44,34,76,1";

/** How its import takes the columns: as they look, that of ids as text, or all as text. */
const IDS_AS_TEXT = "1/2";
const ALL_AS_TEXT = Array.from({ length: 200 }, (_, column) => `${column + 1}/2`).join("/");

/** Ways of opening a CSV file in LibreOffice, as the options of its import filter. */
export const IMPORTS: Readonly<Record<string, string>> = {
	default: PLAIN,
	"ids-as-text": `${PLAIN},${IDS_AS_TEXT}`,
	"no-special-numbers": `${PLAIN},,1033,false,false`,
	german: `${PLAIN},,1031,false,true`,
	"quoted-as-text": `${PLAIN},,1033,true,false`,
	text: `${PLAIN},${ALL_AS_TEXT}`,
};

/** What it saves: what is shown, and quotes where they are needed, as its dialogue proposes. */
const EXPORT = `csv:Text - txt - csv (StarCalc):${PLAIN},,0,false,true,false,false,false,-1`;

/** Milliseconds: the first start makes a profile. */
const PATIENCE = 180_000;

export function hasLibreOffice(): boolean {
	try {
		execFileSync("soffice", ["--version"], { stdio: "ignore", timeout: PATIENCE });
		return true;
	} catch {
		return false;
	}
}

/** Opens a CSV file in LibreOffice and saves it as CSV again. Path of what was saved. */
export async function throughLibreOffice(path: string, filter: string): Promise<string> {
	const work = await folder();
	const out = join(work, "out");
	await mkdir(out);
	const profile = `-env:UserInstallation=${pathToFileURL(join(work, "profile")).href}`;
	const convert = [`--infilter=CSV:${filter}`, "--convert-to", EXPORT, "--outdir", out, path];
	await promisify(execFile)("soffice", [profile, "--headless", "--norestore", ...convert], { timeout: PATIENCE });
	const [name, ...others] = await readdir(out);
	if (name === undefined || others.length > 0) throw new Error("LibreOffice saved no file, or several");
	return join(out, name);
}
