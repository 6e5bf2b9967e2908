import { flavours } from "../../rest/flavours.ts";

/** What `--flavour` may say. */
export const flavourNames: readonly string[] = flavours.map(({ name }) => name).toReversed();
