import { spawnSync } from "node:child_process"
import { type Browser, chromium } from "playwright-core"

const executablePath = ["chromium", "chromium-browser", "google-chrome"]
  .map((name) => spawnSync("which", [name], { encoding: "utf8" }).stdout.trim())
  .find((path) => path !== "")

export const hasChromium = executablePath !== undefined

/** Follows the title of a suite that needs a browser. */
export const skipReason = hasChromium ? "" : " (skipped: install Debian's package chromium)"

export const launchChromium = (): Promise<Browser> => {
  if (executablePath === undefined) throw new Error("There is no Chromium.")
  // Chromium has no sandbox of its own for root, which containers run as.
  return chromium.launch({ executablePath, args: ["--no-sandbox"] })
}
