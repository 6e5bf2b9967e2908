import { expect, it } from "vitest";
import { limiterUrl } from "../../src/settings/address.ts";

it.each(["redis://host", "redis://host:6380/2", "rediss://ann:secret@host", "redis://:se%25cret@[::1]:6379/"])(
	"%s is an address",
	(text) => {
		expect(limiterUrl(text, "--limiter").hostname).not.toBe("");
	},
);

it.each([
	"host:6379",
	"http://host",
	"redis://",
	"redis://host/a",
	"redis://host?tls=no",
	"redis://:secret@host/x",
	"redis://:secret%zz@host",
])("%s is exit 2, and its password is not repeated", (text) => {
	expect(() => limiterUrl(text, "profile p")).toThrow("profile p is not the address of a Redis; nothing was sent");
});
