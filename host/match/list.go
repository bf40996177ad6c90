package match

// Each calls f for all unexpected messages, the oldest first.
func (c *Core[R, M]) Each(f func(e Envelope, m M)) {
	for at := c.unexpected.oldest; at != noNode; at = c.unexpected.at(at).younger {
		f(c.unexpected.at(at).env, c.unexpected.at(at).value)
	}
}
