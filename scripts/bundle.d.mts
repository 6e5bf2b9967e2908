import type { BuildOptions } from "esbuild";

export function bundleOptions(root: string, version: string): BuildOptions & { metafile: true };
