import { systemClock } from "../../src/run/clock.ts";
import { RateLimiter } from "../../src/run/rate/limiter.ts";

/** A limiter without a cap. */
export const unlimited = new RateLimiter(undefined, systemClock);
