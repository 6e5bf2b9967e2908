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
