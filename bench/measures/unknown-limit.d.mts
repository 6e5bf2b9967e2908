import type { Update } from "../gate.mjs";

export function useOf(updates: readonly Update[], limit: number): { readonly share: number; readonly refused: number };
export function secondsUntilUsed(updates: readonly Update[], from: number, limit: number): number | undefined;
