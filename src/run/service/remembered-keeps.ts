import { flavours } from "../../rest/flavours.ts";
import type { Normalise } from "../../rest/flavours.ts";
import { fileMemory } from "./memory.ts";

/**
 * What the service at an address keeps of what it is sent, for those who only look back: no request is made. Where no
 * earlier command learned which flavour it is, all rules that are known are taken together: a value that one of them
 * makes of another is then nobody's change.
 */
export async function rememberedKeeps(stateDir: string | undefined, baseUrl: string): Promise<Normalise> {
	const knowledge = stateDir === undefined ? undefined : await fileMemory(stateDir, baseUrl).load();
	if (knowledge !== undefined) return knowledge.flavour.normalise;
	return (sent) => flavours.reduce((kept, { normalise }) => normalise(kept), sent);
}
