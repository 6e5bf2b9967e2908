import { meantReserved } from "../rows/reserved.ts";
import type { ManifestOptions } from "../types.ts";

/** Names whose verdict is remembered. A manifest uses a few; a hostile one may use a new one in each row. */
const REMEMBERED = 1000;

/** What the members of objects are called after `--map` and `--ignore`. */
export class MemberNames {
	readonly #map: ReadonlyMap<string, string>;
	readonly #ignore: ReadonlySet<string>;
	readonly #waiting: Map<string, "--map" | "--ignore">;
	readonly #meant = new Map<string, string | undefined>();

	constructor({ map, ignore }: Pick<ManifestOptions, "map" | "ignore">) {
		this.#map = map;
		this.#ignore = ignore;
		this.#waiting = new Map();
		for (const name of map.keys()) this.#waiting.set(name, "--map");
		for (const name of ignore) this.#waiting.set(name, "--ignore");
	}

	/** The name of a member, or undefined when it is dropped. */
	of(name: string): string | undefined {
		if (this.#waiting.size > 0) this.#waiting.delete(name);
		if (this.#ignore.has(name)) return undefined;
		return this.#map.get(name) ?? name;
	}

	/** The reserved name that was probably meant. */
	meant(name: string): string | undefined {
		if (this.#meant.has(name)) return this.#meant.get(name);
		const meant = meantReserved(name);
		if (this.#meant.size < REMEMBERED) this.#meant.set(name, meant);
		return meant;
	}

	unused(): (readonly [flag: string, name: string])[] {
		return Array.from(this.#waiting, ([name, flag]) => [flag, name] as const);
	}
}
