package registry

import (
	"net/url"
	"slices"
	"strings"
)

// Kind returns the kind of device that a URI names: the innermost URI without the keys that do not
// select another kind of hardware, the others in alphabetical order. The same test takes the same
// number of simulated cycles on every device of a kind, unless the sources of their hardware
// differ: rtl:?src=../old is of the kind rtl:. An invalid URI is its own kind.
func Kind(uri string) string {
	b, path, keys, err := resolve(innermostURI(uri))
	if err != nil {
		return uri
	}
	var query []string
	for _, k := range b.Keys {
		if v, ok := keys[k.Name]; ok && !k.SameKind {
			query = append(query, url.QueryEscape(k.Name)+"="+url.QueryEscape(v))
		}
	}
	kind := b.Scheme + ":" + path
	if len(query) > 0 {
		slices.Sort(query)
		kind += "?" + strings.Join(query, "&")
	}
	return kind
}
