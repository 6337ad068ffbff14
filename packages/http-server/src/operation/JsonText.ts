import { type JSONPath, visit } from "jsonc-parser"

/** Deeper than any body of the API, and shallow enough for whoever walks it. */
const DEPTH_LIMIT = 32

/** What a JSON text has that its value no longer shows. */
export class JsonTextFlaw extends Error {
  readonly path: string
  constructor(path: JSONPath, message: string) {
    super(message)
    this.path = path.join(".")
  }
}

/** Walks a text, and throws the first flaw: the walk has no other way to end early. */
const walk = (text: string): void => {
  /** The keys so far of each object around the place, from the outermost. */
  const keys: Array<Set<string>> = []
  let depth = 0
  const enter = (path: JSONPath) => {
    if (++depth > DEPTH_LIMIT) throw new JsonTextFlaw(path, "nested too deeply")
  }
  visit(
    text,
    {
      onObjectBegin: (_offset, _length, _line, _character, path) => {
        enter(path())
        keys.push(new Set())
      },
      onObjectProperty: (property, _offset, _length, _line, _character, path) => {
        const seen = keys.at(-1)
        if (seen?.has(property)) throw new JsonTextFlaw([...path(), property], "the same property twice")
        seen?.add(property)
      },
      onObjectEnd: () => {
        keys.pop()
        depth--
      },
      onArrayBegin: (_offset, _length, _line, _character, path) => enter(path()),
      onArrayEnd: () => {
        depth--
      }
    },
    { disallowComments: true }
  )
}

/**
 * The first key that an object has twice, or the first place that is nested too
 * deeply. Different readers take different ones of two equal keys, so such a
 * text has no one meaning. A text that is no JSON may have no flaw here.
 */
export const findFlaw = (text: string): JsonTextFlaw | undefined => {
  try {
    walk(text)
    return undefined
  } catch (flaw) {
    if (flaw instanceof JsonTextFlaw) return flaw
    throw flaw
  }
}
