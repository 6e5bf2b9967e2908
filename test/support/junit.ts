import { readFile } from "node:fs/promises";
import { validateXML } from "xmllint-wasm";

const SCHEMA = new URL("junit.xsd", import.meta.url);

/** Holds a report against the schema. Its text, as it was given. */
export async function validJunit(text: string): Promise<string> {
	const result = await validateXML({ xml: text, schema: await readFile(SCHEMA, "utf8") });
	if (!result.valid) throw new Error(result.errors.map(({ rawMessage }) => rawMessage).join("\n"));
	return text;
}

/** The cases of a report: `NAME: passed`, `NAME: failure CODE`, `NAME: error exit 6`. */
export function casesOf(text: string): string[] {
	return [
		...text.matchAll(/<testcase name="([^"]*)"[^>]*>(?:\s*<(failure|error) message="[^"]*" type="([^"]*)")?/g),
	].map(([, name, kind, type]) => `${name}: ${kind === undefined ? "passed" : `${kind} ${type}`}`);
}
