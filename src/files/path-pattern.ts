import { type CliError, usageError } from "../errors.ts";
import { excerpt } from "../text/show.ts";

/** A field of a pattern: `{year:number}` has the name `year:number`, which is the header of a column. */
type Field = { readonly group: string; readonly name: string };

/** The texts of a path's fields by their names, or undefined for a path that does not match. */
type PathPattern = (relative: string) => ReadonlyMap<string, string> | undefined;

/** A field, stars, or anything else in a pattern. */
const PART = /\{([^{}/]+)\}|\*\*\/?|\*|[^{}*]+|[{}]/g;

/**
 * Reads a pattern such as `{category}/{year:number}_{title}.pdf`. A field is one or more characters of one part of a path;
 * `*` is any of one part, `**` any of several. A pattern without a slash is compared with the base name.
 *
 * @throws CliError exit 2 for a pattern that has no fields, or cannot be divided
 */
export function parsePattern(text: string): PathPattern {
	const fields: Field[] = [];
	let source = "";
	let isAfterField = false;
	for (const [part, name] of text.replace(/^(?:\.\/)+/, "").matchAll(PART)) {
		if (name !== undefined) {
			if (isAfterField) throw refusal(text, "has two fields with nothing between them");
			if (fields.some((field) => field.name === name)) throw refusal(text, `has {${name}} twice`);
			const group = `f${fields.length}`;
			fields.push({ group, name });
			source += `(?<${group}>[^/]+?)`;
		} else source += sourceOf(part, text);
		isAfterField = name !== undefined;
	}
	if (fields.length === 0) throw refusal(text, "has no field");
	const whole = new RegExp(`^${source}$`, "su");
	const isOfName = !text.includes("/");
	return (relative) => {
		const compared = isOfName ? relative.slice(relative.lastIndexOf("/") + 1) : relative;
		const found = whole.exec(compared)?.groups;
		return found && new Map(fields.map(({ group, name }) => [name, found[group] ?? ""]));
	};
}

function sourceOf(part: string, text: string): string {
	switch (part) {
		case "**/":
			return "(?:.*/)?";
		case "**":
			return ".*";
		case "*":
			return "[^/]*";
		case "{":
		case "}":
			throw refusal(text, "has a brace without its other one");
		default:
			return part.replaceAll(/[\\^$.|?+()[\]]/g, String.raw`\$&`);
	}
}

function refusal(text: string, why: string): CliError {
	return usageError(
		`--pattern '${excerpt(text)}' ${why}`,
		"Write the path with fields in braces: '{category}/{year:number}_{title}.pdf'.",
	);
}
