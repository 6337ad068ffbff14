import { spawnSync } from "node:child_process"
import { installPeer } from "../../peers/support/PeerRoot.ts"
import type { RuntimeFolder } from "./RuntimeFolder.ts"

interface Declared {
  readonly name: string
  /** Its programs, where it is installed. */
  readonly executables: ReadonlyArray<string>
  /** Debian's packages of it, of which the first has its version. */
  readonly packages: readonly [string, ...ReadonlyArray<string>]
  /** The command before the URL of a page. */
  readonly command: (executable: string) => ReadonlyArray<string>
}

const DECLARED: ReadonlyArray<Declared> = [
  {
    name: "Chromium",
    executables: ["chromium", "chromium-browser", "google-chrome"],
    packages: ["chromium"],
    command: (executable) => [executable, "--headless", "--no-sandbox", "--user-data-dir=chromium"]
  },
  {
    name: "Firefox",
    executables: ["firefox-esr", "firefox"],
    packages: ["firefox-esr"],
    command: (executable) => [executable, "--headless", "--no-remote", "--profile", "."]
  },
  {
    // The engine of Safari, in the browser of its own tests, which needs a display. Its folder names the machine.
    name: "WebKit",
    executables: [],
    packages: ["libwebkit2gtk-4.1-0", "xvfb", "xauth"],
    command: () => [
      "sh",
      "-ec",
      // An abstract socket would be shared with other displays of the machine.
      'exec xvfb-run --auto-servernum --server-args="-nolisten local" /usr/lib/*/webkit2gtk-4.1/MiniBrowser "$1"',
      "sh"
    ]
  }
]

/** A browser that opens a page. */
export interface Browser {
  readonly name: string
  /** Its name and version, or why it is skipped. */
  readonly title: string
  /** Opens a page, and closes it when a task has ended. Rejects with its output if it ends before. */
  readonly open: undefined | (<A>(folder: RuntimeFolder, url: string, task: () => Promise<A>) => Promise<A>)
  readonly close: () => Promise<void>
}

const find = async ({ command, executables, name, packages }: Declared): Promise<Browser> => {
  const executable = executables
    .map((each) => spawnSync("which", [each], { encoding: "utf8" }).stdout.trim())
    .find((path) => path !== "")
  if (executable !== undefined) {
    const version = spawnSync(executable, ["--version"], { encoding: "utf8" }).stdout.trim()
    return {
      name,
      title: `${name}: ${version}`,
      open: (folder, url, task) => folder.during([...command(executable), url], task),
      close: () => Promise.resolve()
    }
  }
  const { root, title } = await installPeer(...packages)
  if (root === undefined) return { name, title: `${name}: ${title}`, open: undefined, close: () => Promise.resolve() }
  return {
    name,
    title: `${name}: ${title}`,
    open: (_, url, task) => {
      const script = 'cd "$(mktemp --directory)"; exec "$@"'
      const ended = root
        .run(["sh", "-ec", script, "sh", ...command(executables[0] ?? ""), url])
        .then(({ output }) => Promise.reject(new Error(`${name} ended:\n${output}`)))
      return Promise.race([task(), ended])
    },
    close: () => root.close()
  }
}

/** Finds the browsers of this machine, and installs the others over an overlay of its files. */
export const findBrowsers = (): Promise<ReadonlyArray<Browser>> => Promise.all(DECLARED.map(find))
