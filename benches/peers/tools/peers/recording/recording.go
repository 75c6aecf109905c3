// Package recording reads watch events of pods, one JSON document per line.
package recording

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Each gives the events of pods to use, in their order. A watch also has bookmarks, and may end with an error.
func Each(path string, use func(watch.EventType, *corev1.Pod)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, 1<<20)
	for number := 1; ; number++ {
		// A last line without an end is half written.
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var event struct {
			Type   watch.EventType
			Object json.RawMessage
		}
		pod := &corev1.Pod{}
		err = json.Unmarshal(line, &event)
		if err == nil && (event.Type == watch.Bookmark || event.Type == watch.Error) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(event.Object, pod)
		}
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", path, number, err)
		}
		use(event.Type, pod)
	}
}
