import * as v from "valibot";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { type CliError, reason, usageError } from "../errors.ts";

/** The error for a place of the file. @param isKey whether the name there is wrong, and not its value */
export type ProblemAt = (path: readonly unknown[], text: string, isKey?: boolean) => CliError;

/** An object of these members alone. @param unknown what is said of a name that is none of them */
export function membersOf<Entries extends v.ObjectEntries>(
	entries: Entries,
	unknown: (name: string) => string,
): v.StrictObjectSchema<Entries, (issue: v.StrictObjectIssue) => string> {
	// valibot takes a name that the entries inherit, as `toString`, for one of theirs.
	const own = { ...entries };
	Object.setPrototypeOf(own, null);
	return v.strictObject(own, ({ expected, input }) =>
		expected === "never" ? unknown(String(input)) : "a map of names",
	);
}

/** A value that `read` understands: for any other, it gives undefined or throws. */
export function readBy<Value>(read: (value: unknown) => Value | undefined, wanted: string) {
	return v.pipe(
		v.unknown(),
		v.rawTransform<unknown, Value>(({ dataset, addIssue, NEVER }) => {
			try {
				const value = read(dataset.value);
				if (value !== undefined) return value;
			} catch {
				// The message of the reader is for a command line.
			}
			addIssue({ message: wanted });
			return NEVER;
		}),
	);
}

/**
 * The value of a text of YAML. The message of a schema says what a value must be.
 *
 * @param nameOf what messages call the value at a place
 * @throws CliError exit 2, with line and column
 */
export function readYaml<Schema extends v.GenericSchema>(
	text: string,
	file: string,
	schema: Schema,
	nameOf: (path: readonly unknown[]) => string,
): { readonly value: v.InferOutput<Schema>; readonly problem: ProblemAt } {
	const lines = new LineCounter();
	const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
	const problemAt = (offset: number, fault: string): CliError => {
		const { line, col } = lines.linePos(offset);
		return usageError(`${file}:${line}:${col}: ${fault}; nothing was sent`);
	};
	const [broken] = [...document.errors, ...document.warnings];
	if (broken !== undefined) throw problemAt(broken.pos[0], reason(broken));
	visit(document, {
		Alias: (_, node) => {
			throw problemAt(node.range?.[0] ?? 0, "a value must be written out, not an alias");
		},
		Pair: (_, { key }) => {
			// As a text, 1.0 would be the name "1".
			if (isScalar(key) && (typeof key.value === "string" || String(key.value) === key.source)) return;
			throw problemAt(isNode(key) ? (key.range?.[0] ?? 0) : 0, "a name must be text: put it in quotes");
		},
	});
	const problem: ProblemAt = (path, fault, isKey) => problemAt(offsetOf(document, path, isKey), fault);
	if (document.contents !== null && !isMap(document.contents))
		throw problem([], `${nameOf([])} must be a map of names`);
	const read = v.safeParse(schema, document.toJS() ?? {});
	if (read.success) return { value: read.output, problem };
	const [{ path: items, expected, message }] = read.issues;
	const path = items?.map(({ key }) => key) ?? [];
	throw expected === "never" ? problem(path, message, true) : problem(path, `${nameOf(path)} must be ${message}`);
}

/** Where a name or its value begins in the text. */
function offsetOf(document: Document, path: readonly unknown[], isKey = false): number {
	const parent: unknown = document.getIn(path.slice(0, -1), true);
	const pair = isMap(parent)
		? parent.items.find(({ key }) => isScalar(key) && String(key.value) === path.at(-1))
		: undefined;
	const node: unknown = isKey ? pair?.key : (pair?.value ?? document.getIn(path, true));
	return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}
