import { show } from "../text/show.ts";
import { kindWord, TYPE, typesOf, typeWords, type ValueTypes } from "./value-types.ts";
import { isJsonArray, isJsonObject, type JsonValue, type Metadata } from "./values.ts";

/** A value that a search engine would refuse: with it, all metadata of its document. */
type Clash = {
	readonly key: string;
	/** `pages: the service holds numbers, and "n/a" is text` */
	readonly text: string;
};

/** What was seen under a key. */
type Seen = {
	/** types that one of the values makes */
	makes: number;
	/** types that take all of the values */
	fits: number;
	/** line of the row that gave the key its type; undefined where a document has it */
	readonly line: number | undefined;
};

/** The new keys of one document. `isRefused`: the service has refused it, so one of its values does not fit. */
type Added = { readonly types: Map<string, ValueTypes>; readonly isRefused: boolean };

const EARLIER = "an earlier value, perhaps in another dataset, may have given this key another type";

/** Nearly every key: no part of it is blank. */
const PLAIN_KEY = /^[\w-]+$/;

/** Characters of a value that a clash names. */
const SHOWN = 40;

/**
 * The types of metadata keys, as far as documents and rows show them. Memory grows with the number of different keys.
 *
 * The first value of a key made its type, and which one was first is not known. So a key has each type that one of its
 * values makes and all of them fit.
 */
export class TypedKeys {
	readonly #paths = new Map<string, Seen>();

	/** Learns from a document. */
	addDocument(metadata: Metadata): void {
		for (const [key, value] of metadata) this.#each(key, value, this.#learn);
	}

	/** One function for all documents of a list. */
	readonly #learn: Visit = (path, { makes, fits }) => {
		const seen = this.#paths.get(path);
		if (seen === undefined) this.#paths.set(path, { makes, fits, line: undefined });
		else {
			seen.makes |= makes;
			seen.fits &= fits;
		}
		return undefined;
	};

	/** The values that don't fit. Those of a row that all fit give types to new keys: rows are sent in their order. */
	addRow(metadata: Metadata, line?: number): readonly Clash[] {
		const clashes = this.clashes(metadata);
		if (clashes.length > 0) return clashes;
		for (const [key, value] of metadata) {
			this.#each(key, value, (path, types) => {
				const seen = this.#paths.get(path);
				if (seen === undefined) this.#paths.set(path, { ...types, line });
				else seen.makes = typesIn(seen) & types.fits;
				return undefined;
			});
		}
		return clashes;
	}

	/** The values of metadata that don't fit, one for each key. */
	clashes(metadata: Metadata): readonly Clash[] {
		return this.#clashes(metadata, false);
	}

	/** The values that may be the reason why a service has refused metadata: where nothing is certain, each that may not fit. */
	reasons(metadata: Metadata): readonly Clash[] {
		const certain = this.#clashes(metadata, false);
		return certain.length > 0 ? certain : this.#clashes(metadata, true);
	}

	#clashes(metadata: Metadata, isRefused: boolean): readonly Clash[] {
		const clashes: Clash[] = [];
		const added: Added = { types: new Map(), isRefused };
		for (const [key, value] of metadata) {
			const why = isBadKey(key)
				? "a key that is empty or blank, or begins with a dot, is refused"
				: this.#each(key, value, (path, types, part) => this.#why(path, types, part, added));
			if (why !== undefined) clashes.push({ key, text: `${key === "" ? '""' : show(key, SHOWN)}: ${why}` });
		}
		return clashes;
	}

	/** Why a value does not fit; undefined where it does. */
	#why(path: string, types: ValueTypes, value: JsonValue, added: Added): string | undefined {
		const seen = this.#paths.get(path);
		// A text is made of a value that does not fit alone: a manifest has millions that do.
		const what = (): string => `${shown(value)} is ${kindWord(types)}`;
		if (seen !== undefined) {
			const known = typesIn(seen);
			const taking = known & types.fits;
			if (!added.isRefused && taking !== 0) return undefined;
			if (taking === known) return (seen.fits & ~types.fits) === 0 ? undefined : `${what()}, and ${EARLIER}`;
			const has = seen.line === undefined ? "the service holds" : `line ${seen.line} has`;
			const isLarge = (known & (TYPE.whole | TYPE.number)) !== 0 && typeof value === "number";
			return `${has} ${isLarge ? "smaller numbers" : typeWords(known)}${pathWords(path, types)}, and ${what()}`;
		}
		if ((types.makes & types.fits) === 0) return `${shown(value)} is a number that is too large`;
		const beside = added.types.get(path);
		added.types.set(path, types);
		if (added.isRefused) return `${what()}, and ${EARLIER}`;
		if (beside === undefined || beside.makes === types.makes) return undefined;
		if (typeof value === "number" && (beside.makes & (TYPE.whole | TYPE.number)) !== 0) {
			return "whole numbers and fractions are mixed; a new key takes one type";
		}
		return `${what()}, and beside it are ${typeWords(beside.makes)}; a new key takes one type`;
	}

	/** Visits every value under a key, until `visit` gives a reason. A dot in a key makes an object. */
	#each(key: string, value: JsonValue, visit: Visit): string | undefined {
		const dot = key.indexOf(".");
		if (dot < 0) return visitValue(key, value, visit);
		const parts = key.replace(/\.+$/, "").split(".");
		let path = "";
		for (const part of parts.slice(0, -1)) {
			path += path === "" ? part : `.${part}`;
			const why = visit(path, typesOf({}), {});
			if (why !== undefined) return why;
		}
		return visitValue(parts.join("."), value, visit);
	}
}

/** @returns a reason to stop */
type Visit = (path: string, types: ValueTypes, value: JsonValue) => string | undefined;

function visitValue(path: string, value: JsonValue, visit: Visit): string | undefined {
	if (value === null) return undefined;
	if (isJsonArray(value)) {
		for (const item of value) {
			const why = visitValue(path, item, visit);
			if (why !== undefined) return why;
		}
		return undefined;
	}
	const why = visit(path, typesOf(value), value);
	if (why !== undefined || !isJsonObject(value)) return why;
	for (const [key, inner] of Object.entries(value)) {
		const found = visitValue(`${path}.${key}`, inner, visit);
		if (found !== undefined) return found;
	}
	return undefined;
}

/** Where no value makes a type that fits all, another dataset gave the key its type. */
function typesIn({ makes, fits }: Seen): number {
	return (makes & fits) === 0 ? fits : makes & fits;
}

function isBadKey(key: string): boolean {
	if (PLAIN_KEY.test(key)) return false;
	return key
		.replace(/\.+$/, "")
		.split(".")
		.some((part) => part.trim() === "");
}

/** The key with the value that is in the way, where a dot in the other key needs an object there. */
function pathWords(path: string, { makes }: ValueTypes): string {
	return makes === TYPE.object ? ` under ${show(path, SHOWN)}` : "";
}

function shown(value: JsonValue): string {
	return isJsonObject(value) && Object.keys(value).length === 0
		? "a key with a dot"
		: show(JSON.stringify(value), SHOWN);
}
