import { ragflow018 } from "./ragflow-0.18.ts";
import { ragflow021 } from "./ragflow-0.21.ts";
import { ragflow023 } from "./ragflow-0.23.ts";
import { ragflow024 } from "./ragflow-0.24.ts";
import { ragflow025 } from "./ragflow-0.25.ts";
import { ragflow026 } from "./ragflow-0.26.ts";
import { ragflow027 } from "./ragflow-0.27.ts";
import type { Release } from "./release.ts";

const releases = {
	"ragflow-0.18": ragflow018,
	"ragflow-0.21": ragflow021,
	"ragflow-0.23": ragflow023,
	"ragflow-0.24": ragflow024,
	"ragflow-0.25": ragflow025,
	"ragflow-0.26": ragflow026,
	"ragflow-0.27": ragflow027,
} satisfies Readonly<Record<string, Release>>;

/** What the sandbox can speak: the API as documented, or as a release of RAGFlow answers it. */
export type Flavour = "documented" | keyof typeof releases;

export const flavours: readonly string[] = ["documented", ...Object.keys(releases)];

export function isFlavour(name: string): name is Flavour {
	return flavours.includes(name);
}

/** The facts of a flavour; the documented one has none beside its documentation. */
export function releaseOf(flavour: Flavour): Release | undefined {
	return flavour === "documented" ? undefined : releases[flavour];
}
