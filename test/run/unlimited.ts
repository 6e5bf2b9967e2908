import { systemClock } from "../../src/run/clock.ts";
import { createLimiter } from "../../src/run/rate/limiter.ts";

/** A limiter without a cap. */
export const unlimited = createLimiter(undefined, systemClock);
