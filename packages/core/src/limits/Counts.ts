/** Adds to the count of a key. A key that counts zero is deleted, so that the map is as large as what is in use. */
export const addToCount = <Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void => {
  const count = (counts.get(key) ?? 0) + change
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
