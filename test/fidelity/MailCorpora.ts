import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import type { DebianPackages } from "./DebianPackages.ts"

/** A mail of a public corpus. */
export interface CorpusMail {
  /** The path in the corpus, by which explanations name it. */
  readonly name: string
  readonly raw: Buffer
}

export interface Corpus {
  readonly name: string
  /** Where it is from. */
  readonly source: string
  readonly mails: ReadonlyArray<CorpusMail>
}

/** Returns the files of a directory that are mails, by their paths in it. */
export const mailsIn = async (
  directory: string,
  isMail: (path: string) => boolean
): Promise<ReadonlyArray<CorpusMail>> => {
  const paths = (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .filter(isMail)
    .toSorted()
  return Promise.all(paths.map(async (name) => ({ name, raw: await readFile(join(directory, name)) })))
}

/** The corpora of mail that Debian has: mailing lists, broken mail, and the mail of a parser's tests. */
export const mailCorpora = async (packages: DebianPackages): Promise<ReadonlyArray<Corpus>> => {
  const notmuch = await packages.source("notmuch")
  const testSuite = await packages.binary(await packages.named("^libpython3\\.[0-9]+-testsuite$"))
  const bounces = await packages.binary("python3-flufl.bounce")
  return [
    {
      name: "notmuch",
      source: `notmuch ${notmuch.version}, test/corpora`,
      mails: await mailsIn(
        join(notmuch.directory, `notmuch-${notmuch.version}/test/corpora`),
        (path) => !/README|\.sig$/.test(path)
      )
    },
    {
      name: "python",
      source: `libpython3-testsuite ${testSuite.version}, test_email/data`,
      mails: await mailsIn(testSuite.directory, (path) => /test_email\/data\/msg_\w+\.txt$/.test(path))
    },
    {
      name: "flufl.bounce",
      source: `python3-flufl.bounce ${bounces.version}, tests/data, as mail to a mailbox`,
      mails: await mailsIn(bounces.directory, (path) => /bounce\/tests\/data\/\w+\.txt$/.test(path))
    }
  ]
}
