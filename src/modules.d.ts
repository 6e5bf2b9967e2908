/** The style of the page as one minified text: see scripts/page-assets.mjs. */
declare module "asset:*" {
	const text: string;
	export default text;
}

/** The part of picomatch that is used here. Its types come in a package of their own. */
declare module "picomatch" {
	type Options = {
		/** whether `*` matches names that begin with a dot */
		readonly dot: boolean;
		/** whether a glob that begins with `!` means it literally */
		readonly nonegate: boolean;
		/** whether `!(a)` and `@(a)` are literal */
		readonly noextglob: boolean;
		/** whether `\` divides paths */
		readonly windows: boolean;
	};

	export default function picomatch(glob: string, options: Options): (path: string) => boolean;
}

// The pool by its path: the whole of undici takes twice as long to load, and its other parts are needed only for a proxy.
declare module "undici/lib/dispatcher/pool.js" {
	import { Pool } from "undici";
	export default Pool;
}
